// Table: rows for eyes; 80 columns suffice, columns drop from the right when they do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::cli {

// How what is shown must look on this terminal. Never decides what is shown.
struct Look {
  std::size_t columns = 80;
  bool ascii = false;   // the locale is not UTF-8
  bool plain = false;   // `field: value` lines, no glyphs, no redrawing
  bool colour = false;  // of the text stream in question
};

enum class Align : std::uint8_t { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
  int drop = 0;             // 0: always shown; else the highest goes first when there is no room
  bool may_shrink = false;  // a name: shortened in the middle; ids, numbers and reasons never are
};

class Table {
 public:
  // Titles and cells may be hostile: the table escapes them.
  explicit Table(std::vector<Column> columns);

  // As many cells as columns.
  void row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  // All lines, each ending in '\n'. Names the columns left out under the table, except in plain
  // look, which shows every field.
  std::string text(const Look& look) const;

 private:
  std::string plain_text() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace heddle::cli

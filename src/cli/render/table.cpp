#include "cli/render/table.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "cli/render/escape.h"

namespace heddle::cli {
namespace {

constexpr std::size_t kGap = 3;
constexpr std::size_t kNarrowGap = 2;  // before a column is left out
constexpr std::size_t kShortestName = 12;

std::size_t total(const std::vector<std::size_t>& widths, const std::vector<std::size_t>& shown,
                  std::size_t gap) {
  std::size_t sum = 0;
  for (const std::size_t column : shown) sum += widths[column] + gap;
  return sum > gap ? sum - gap : 0;
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string padded(std::string_view text, std::size_t width, Align align) {
  const std::size_t have = width_of(text);
  const std::string space(width > have ? width - have : 0, ' ');
  return align == Align::kRight ? space + std::string(text) : std::string(text) + space;
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_{std::move(columns)} {
  for (Column& column : columns_) column.title = safe(column.title);
}

void Table::row(std::vector<std::string> cells) {
  HEDDLE_CHECK(cells.size() == columns_.size());
  for (std::string& cell : cells) cell = safe(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::plain_text() const {
  std::string out;
  for (const auto& cells : rows_) {
    if (!out.empty()) out += "\n";
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (!cells[i].empty()) out += lower(columns_[i].title) + ": " + cells[i] + "\n";
  }
  return out;
}

std::string Table::text(const Look& look) const {
  if (look.plain) return plain_text();
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = width_of(columns_[i].title);
    for (const auto& cells : rows_) width = std::max(width, width_of(cells[i]));
    widths.push_back(width);
  }
  std::vector<std::size_t> shown(columns_.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});

  const std::size_t gap = total(widths, shown, kGap) > look.columns ? kNarrowGap : kGap;

  // Names give way first, then whole columns.
  const auto fit_names = [&] {
    for (const std::size_t i : shown) {
      const std::size_t wide = total(widths, shown, gap);
      if (wide <= look.columns || !columns_[i].may_shrink) continue;
      const std::size_t least = std::min(widths[i], kShortestName);
      widths[i] = std::max(least, widths[i] - std::min(widths[i], wide - look.columns));
    }
  };
  const std::vector<std::size_t> natural = widths;
  fit_names();
  std::vector<std::size_t> left_out;
  while (total(widths, shown, gap) > look.columns) {
    const auto worst =
        std::ranges::max_element(shown, {}, [&](std::size_t i) { return columns_[i].drop; });
    if (columns_[*worst].drop == 0) break;
    left_out.push_back(*worst);
    shown.erase(worst);
    widths = natural;  // names may have room again
    fit_names();
  }

  std::string out;
  const auto line = [&](const auto& cell_of) {
    std::string text;
    for (const std::size_t i : shown) {
      if (!text.empty()) text += std::string(gap, ' ');
      text +=
          padded(shorten_middle(cell_of(i), widths[i], look.ascii), widths[i], columns_[i].align);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line([&](std::size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& cells : rows_)
    line([&](std::size_t i) -> const std::string& { return cells[i]; });
  if (!left_out.empty()) {
    std::ranges::sort(left_out);
    out += "not shown, the terminal is narrow:";
    for (const std::size_t i : left_out) out += " " + lower(columns_[i].title);
    out += "\n";
  }
  return out;
}

}  // namespace heddle::cli

// Cursors: a place in a list as opaque text that only its owner can use, for the same list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/model/ids.h"

namespace heddle::api {

// Signed with a key that outlives the process when the operator's state does. Any thread.
class Seal {
 public:
  explicit Seal(std::string key);

  std::string close(std::uint64_t place, UserId owner, std::string_view list) const;
  // bad_cursor (400) when it is not a cursor of this owner and list; gone (410) when it was sealed
  // with another key. `pointer` says where it stood.
  Result<std::uint64_t> open(std::string_view text, UserId owner, std::string_view list,
                             const std::string& pointer) const;

 private:
  std::string mac(std::string_view body, UserId owner, std::string_view list) const;

  std::string key_;
  std::string key_id_;
};

}  // namespace heddle::api

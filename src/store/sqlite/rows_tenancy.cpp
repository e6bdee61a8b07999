#include "store/sqlite/rows.h"

namespace heddle::sqlite {

void put(Connection& connection, const Team& t) {
  connection.run(
      "INSERT INTO teams (id, parent, name, display, slot, created_at, updated_at, version)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET parent = excluded.parent,"
      " name = excluded.name, display = excluded.display, slot = excluded.slot,"
      " created_at = excluded.created_at, updated_at = excluded.updated_at,"
      " version = excluded.version",
      t.id, t.parent, t.name, t.display, t.slot, t.created_at, t.updated_at, t.version);
}

void put(Connection& connection, const User& u) {
  connection.run(
      "INSERT OR REPLACE INTO users (id, name, admin, created_at, updated_at, version)"
      " VALUES (?, ?, ?, ?, ?, ?)",
      u.id, u.name, u.admin, u.created_at, u.updated_at, u.version);
}

void put(Connection& connection, const Member& m) {
  connection.run("INSERT OR REPLACE INTO members (team, user, role, since) VALUES (?, ?, ?, ?)",
                 m.key.team, m.key.user, m.role, m.since);
}

void put(Connection& connection, const Token& t) {
  const std::string_view hash{reinterpret_cast<const char*>(t.hash.data()), t.hash.size()};
  connection.run(
      "INSERT OR REPLACE INTO tokens (id, user, name, hash, created_at, expires_at, revoked_at)"
      " VALUES (?, ?, ?, ?, ?, ?, ?)",
      t.id, t.user, t.name, BlobView{hash}, t.created_at, t.expires_at, t.revoked_at);
}

void erase(Connection& connection, const MemberKey& key) {
  connection.run("DELETE FROM members WHERE team = ? AND user = ?", key.team, key.user);
}

void erase(Connection& connection, TokenId id) {
  connection.run("DELETE FROM tokens WHERE id = ?", id);
}

void load_tenancy(Connection& connection, Draft& draft) {
  const auto teams = connection.query(
      "SELECT id, parent, name, display, slot, created_at, updated_at, version FROM teams"
      " ORDER BY id");
  while (teams->next()) {
    Team t;
    teams->take(t.id, t.parent, t.name, t.display, t.slot, t.created_at, t.updated_at, t.version);
    draft.put(std::move(t));
  }
  const auto users = connection.query(
      "SELECT id, name, admin, created_at, updated_at, version FROM users ORDER BY id");
  while (users->next()) {
    User u;
    users->take(u.id, u.name, u.admin, u.created_at, u.updated_at, u.version);
    draft.put(std::move(u));
  }
  const auto members =
      connection.query("SELECT team, user, role, since FROM members ORDER BY team, user");
  while (members->next()) {
    Member m;
    members->take(m.key.team, m.key.user, counted(m.role, kRoleCount), m.since);
    draft.put(m);
  }
  const auto tokens = connection.query(
      "SELECT id, user, name, hash, created_at, expires_at, revoked_at FROM tokens ORDER BY id");
  while (tokens->next()) {
    Token t;
    tokens->take(t.id, t.user, t.name, t.hash, t.created_at, t.expires_at, t.revoked_at);
    draft.put(std::move(t));
  }
}

}  // namespace heddle::sqlite

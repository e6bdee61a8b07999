// Inventory: what engines find becomes sites, pools, nodes and devices.
#pragma once

#include "control/books.h"
#include "control/ports/engine.h"

namespace heddle {

// The site with that name, made or brought up to date with what its engine can do.
SiteId take_site(Books& books, const std::string& name, const Engine& engine);

// Replaces what was known of the site's nodes. A device keeps its id as long as its UUID is seen;
// one that is gone while it is leased stays as sick; a node that is gone becomes lost, and is
// dropped once it holds nothing. Nodes of equal device model and memory share a pool, named after
// the model.
void take_nodes(Books& books, SiteId site, const std::vector<FoundNode>& nodes);

}  // namespace heddle

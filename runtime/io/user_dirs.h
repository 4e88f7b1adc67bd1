// Folders of the user's.
#pragma once

#include <string>

namespace lay::runtime {

// $OWN, else $SHARED/lay, else ~/UNDER_HOME/lay: the first that is an absolute path; empty where
// none is. user_dir("LAY_CACHE_DIR", "XDG_CACHE_HOME", ".cache")
std::string user_dir(const char* own, const char* shared, const std::string& under_home);

// The folder and those above it, for the user alone, as far as they are not there; whether that
// succeeded is seen when something is written.
void make_dirs(const std::string& path);

}  // namespace lay::runtime

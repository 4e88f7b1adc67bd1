// Policies of the user's: what `lay tune` found on this machine. They stand before those of the
// standard library in every plan, so that a Lay that nobody may write to learns too.
#pragma once

#include <string>

namespace lay::runtime {

// $LAY_POLICIES, else $XDG_DATA_HOME/lay/policies, else ~/.local/share/lay/policies; empty where
// none is an absolute path.
std::string policy_folder();

// "tuned_sm90.lay" in that folder.
std::string tuned_policy_path(const std::string& folder, const std::string& family);

// Reads the files of the folder, so that plans ask them from now on
// (frontend/sema/kernel/tuned_rows.h). A missing file is skipped; DiagnosticError "file" for one
// that cannot be read. An error in a file is known when the file is asked.
void read_policies(const std::string& folder);

}  // namespace lay::runtime

#pragma once

// A file system for SQLite that loses what was not synced when the power fails. Only one thread uses it.

namespace notify::sim {

// Makes it the default for every connection of this process from now on. Doing it again changes nothing.
void install_power_vfs();

// From here on nothing reaches the disk, whatever the connections that are still open do while they are closed.
void power_off();

// Takes back every write that was not synced before the power went. No connection may be open.
void power_on();

}  // namespace notify::sim

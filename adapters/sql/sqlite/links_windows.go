package sqlite

import "os"

// named returns how many hard links a file has; on this system that is unknown.
func named(os.FileInfo) uint64 { return 1 }

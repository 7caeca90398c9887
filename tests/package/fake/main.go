// Stands in for the portable Python: tells how it was started, and waits if it is asked to.
package main

import (
	"encoding/json"
	"os"
)

func main() {
	path, _ := os.Executable()
	json.NewEncoder(os.Stdout).Encode(map[string]any{"argv": os.Args, "environment": os.Environ(), "path": path})
	if os.Getenv("STAY") != "" {
		os.Stdin.Read(make([]byte, 1))
	}
}

// raidbench as one file: unpacks the portable Python that it carries, once, and becomes it.
//
// It looks for a folder in which nobody else can put anything, and never runs out of another.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// The tree as make package packs it: bin/python3.14 and lib/python3.14.
//
//go:embed payload.tar.zst
var payload []byte

// Set by the linker: the SHA-256 of the payload, where its interpreter lies, and the bytes that it takes unpacked.
var (
	digest      = "0000000000000000"
	interpreter = "bin/python3.14"
	unpacked    = "0"
)

func main() {
	var reasons []string
	for _, at := range places() {
		err := start(at)
		if errors.Is(err, fs.ErrNotExist) { // a start of another version may have removed this tree before the exec
			err = start(at)
		}
		if err != errUnasked {
			reasons = append(reasons, err.Error())
		}
	}
	fmt.Fprintf(os.Stderr, "raidbench cannot unpack itself: %s.\n", strings.Join(reasons, "; "))
	fmt.Fprintf(os.Stderr, "Name a folder of your own, with %s free, in RAIDBENCH_UNPACK_DIR.\n", megabytes(unpacked))
	os.Exit(1)
}

// start runs the program out of a place. It returns only where that failed.
func start(at place) error {
	tree, err := ready(at)
	if err != nil {
		return err
	}
	return become(tree)
}

// become runs the program out of a tree, in this process.
func become(tree string) error {
	// With another argv[0] Python does not know where it lies, and cannot start itself again for a watchdog.
	python := filepath.Join(tree, interpreter)
	argv := append([]string{python, "-I", "-B", "-m", "app"}, os.Args[1:]...)
	err := syscall.Exec(python, argv, environment(os.Environ()))
	if _, there := os.Stat(python); there == nil && err == syscall.ENOENT {
		fmt.Fprintln(os.Stderr, "raidbench needs a Linux with glibc 2.17 or newer; the loader that glibc brings is not on this machine.")
		os.Exit(1)
	}
	return fmt.Errorf("%s: %w", python, err)
}

// environment is the given one without what changes how an interpreter or a loader works, and with the file that was
// started.
func environment(given []string) []string {
	var kept []string
	for _, entry := range given {
		if !strings.HasPrefix(entry, "PYTHON") && !strings.HasPrefix(entry, "LD_") && !strings.HasPrefix(entry, "RAIDBENCH_LAUNCHER=") {
			kept = append(kept, entry)
		}
	}
	if self, err := os.Executable(); err == nil {
		kept = append(kept, "RAIDBENCH_LAUNCHER="+self)
	}
	return kept
}

func megabytes(bytes string) string {
	if len(bytes) <= 6 {
		return "1 MB"
	}
	return bytes[:len(bytes)-6] + " MB"
}

// Launcher of the standalone binary: unpacks the portable Python in its payload once, and execs it.
//
// It unpacks and runs only in folders that no other user can write to.
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

// payload is the tree that make package packs: bin/python3.14 and lib/python3.14.
//
//go:embed payload.tar.zst
var payload []byte

// Set by the linker: SHA-256 of the payload, path of the interpreter in it, and size of the unpacked tree in bytes.
var (
	digest      = "0000000000000000"
	interpreter = "bin/python3.14"
	unpacked    = "0"
)

func main() {
	var reasons []string
	for _, at := range places() {
		err := start(at)
		if errors.Is(err, fs.ErrNotExist) { // another version may have removed this tree before the exec
			err = start(at)
		}
		if err != errUnasked {
			reasons = append(reasons, err.Error())
		}
	}
	fmt.Fprintf(os.Stderr, "raidbench cannot unpack itself: %s.\n", strings.Join(reasons, "; "))
	fmt.Fprintf(os.Stderr, "Set RAIDBENCH_UNPACK_DIR to a folder that only you can write to, with %s free.\n", megabytes(unpacked))
	os.Exit(1)
}

// start runs the program from a place. It returns only if that failed.
func start(at place) error {
	tree, err := ready(at)
	if err != nil {
		return err
	}
	return become(tree)
}

// become runs the program from a tree, in this process.
func become(tree string) error {
	// Python finds its library by argv[0], and restarts itself by that path for a watchdog.
	python := filepath.Join(tree, interpreter)
	argv := append([]string{python, "-I", "-B", "-m", "app"}, os.Args[1:]...)
	err := syscall.Exec(python, argv, environment(os.Environ()))
	if _, there := os.Stat(python); there == nil && err == syscall.ENOENT {
		fmt.Fprintln(os.Stderr, "raidbench needs Linux with glibc 2.17 or newer; this host does not have the loader of glibc.")
		os.Exit(1)
	}
	return fmt.Errorf("%s: %w", python, err)
}

// environment returns the given environment without variables for Python and the loader, and with the path of the
// launcher.
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

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// loaders and libraries: the loader of glibc by architecture, and where distributions keep the C library.
var (
	loaders   = map[string]string{"amd64": "/lib64/ld-linux-x86-64.so.2", "arm64": "/lib/ld-linux-aarch64.so.1"}
	libraries = []string{"/lib64", "/lib/*-linux-gnu", "/usr/lib64", "/usr/lib/*-linux-gnu", "/lib", "/usr/lib"}
)

const oldest = 17 // glibc 2.17: RHEL 7

// libcProblem returns a sentence if this host does not have the C library that Python needs, and "" otherwise. It is asked
// before anything is unpacked.
func libcProblem() string {
	loader := loaders[runtime.GOARCH]
	if _, err := os.Stat(loader); os.IsNotExist(err) {
		return "raidbench needs Linux with glibc 2.17 or newer; this host does not have the loader of glibc."
	}
	for _, pattern := range libraries {
		files, _ := filepath.Glob(filepath.Join(pattern, "libc.so.6"))
		for _, file := range files {
			if minor := glibc(file); minor > 0 && minor < oldest {
				return fmt.Sprintf("raidbench needs Linux with glibc 2.17 or newer; this host has glibc 2.%d.", minor)
			} else if minor > 0 {
				return ""
			}
		}
	}
	return "" // an unusual place: Python itself reports what it lacks
}

// glibc returns the minor version that a C library states, or 0 if the file is another library or cannot be read.
func glibc(file string) int {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	if at := bytes.Index(text, []byte("GNU C Library ")); at >= 0 {
		line, _, _ := bytes.Cut(text[at:min(at+200, len(text))], []byte("\n"))
		if _, version, found := bytes.Cut(line, []byte("version 2.")); found {
			digits := len(version) - len(bytes.TrimLeft(version, "0123456789"))
			minor, _ := strconv.Atoi(string(version[:digits]))
			return minor
		}
	}
	return 0
}

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"
)

const (
	kept      = 2         // trees that stay: this one and the one before
	abandoned = time.Hour // after which a tree that was never finished is nobody's
)

var treeName = regexp.MustCompile(`^[0-9a-f]{16}$`)

// removeOld removes the trees of earlier versions that nothing runs out of, and what killed starts have left.
func removeOld(base, tree string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	var old []os.FileInfo
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !entry.IsDir() {
			continue
		}
		name := entry.Name()
		switch {
		case strings.HasPrefix(name, ".new-") || strings.HasPrefix(name, ".old-"):
			if time.Since(info.ModTime()) > abandoned {
				os.RemoveAll(filepath.Join(base, name))
			}
		case treeName.MatchString(name) && name != filepath.Base(tree):
			old = append(old, info)
		}
	}
	sort.Slice(old, func(i, j int) bool { return old[i].ModTime().After(old[j].ModTime()) })
	for i, info := range old {
		if i+1 < kept || inUse(filepath.Join(base, info.Name())) {
			continue
		}
		aside := filepath.Join(base, ".old-"+info.Name()) // at once, so that nobody meets half of it
		if os.Rename(filepath.Join(base, info.Name()), aside) == nil {
			os.RemoveAll(aside)
		}
	}
}

// inUse: a program runs out of that tree, a sweep in the background or the watchdog of a trial. What cannot be told counts as
// in use.
func inUse(tree string) bool {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(processes) == 0 {
		return true
	}
	for _, process := range processes {
		if exe, err := os.Readlink(filepath.Join(process, "exe")); err == nil && strings.HasPrefix(exe, tree+"/") {
			return true
		}
	}
	return false
}

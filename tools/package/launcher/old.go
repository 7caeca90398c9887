package main

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

const (
	kept      = 2         // number of trees to keep: this one and the previous one
	abandoned = time.Hour // age after which an incomplete tree is removed
)

// removeOld removes unused trees of earlier versions, and incomplete trees of killed processes.
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
		case len(name) == 16 && strings.Trim(name, "0123456789abcdef") == "" && name != filepath.Base(tree):
			old = append(old, info)
		}
	}
	sort.Slice(old, func(i, j int) bool { return old[i].ModTime().After(old[j].ModTime()) })
	for i, info := range old {
		if i+1 < kept || inUse(filepath.Join(base, info.Name())) {
			continue
		}
		aside := filepath.Join(base, ".old-"+info.Name()) // rename first, so that no process uses a partly removed tree
		if os.Rename(filepath.Join(base, info.Name()), aside) == nil {
			os.RemoveAll(aside)
		}
	}
}

// inUse reports whether a program runs from that tree, such as a sweep in the background or the watchdog of a trial. If
// that cannot be determined, the tree counts as in use.
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

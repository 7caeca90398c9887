#!/bin/sh
unset LD_PRELOAD LD_LIBRARY_PATH
RAIDBENCH_LAUNCHER=/usr/bin/raidbench exec @PREFIX@/@INTERPRETER@ -I -B -m app "$@"

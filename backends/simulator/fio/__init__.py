"""fio as it would run on the rack: job file in, its own JSON stream out, no I/O between."""

"""fio: typed jobs, job files, the process, its output stream and its histograms."""

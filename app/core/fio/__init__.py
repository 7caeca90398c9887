"""fio: a typed job, its argument file, its live stream and its histograms."""

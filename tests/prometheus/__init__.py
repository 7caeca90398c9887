"""The metrics in a real Prometheus with a real node_exporter, both of the distribution, on 127.0.0.1."""

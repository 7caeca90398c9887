"""The Ansible collection, as `make package` makes it, in plays of a real ansible-core on simulated racks."""

// Nothing to call: it works by being linked.

"""Parses and validates a request repeatedly. Prints the processor time per request in nanoseconds, one line per batch.

Usage: yardstick.py SCHEMA REQUEST COUNT BATCHES
"""
import json
import sys
import time

import jsonschema_rs

with open(sys.argv[1], "rb") as file:
    validator = jsonschema_rs.validator_for(json.load(file))
with open(sys.argv[2], "rb") as file:
    message = file.read()
count, batches = int(sys.argv[3]), int(sys.argv[4])

loads, is_valid = json.loads, validator.is_valid
assert is_valid(loads(message))
for _ in range(batches):
    start = time.process_time_ns()
    for _ in range(count):
        is_valid(loads(message))
    print((time.process_time_ns() - start) / count)

# Builds and runs only the simulation, optimized. deploy/check/simulate and deploy/check/regressions source this file.
# shellcheck shell=bash

# Builds the simulation, and an optional further target.
simulation_build() { # PACKAGE SCRATCH LABEL [TARGET]
  MARTLET_TARGETS="DeliveryTests ${4-}" step "$3" "$2/build.log" \
    swift build --package-path "$1" --scratch-path "$2" -c release --build-tests -Xswiftc -enable-testing
}

# Runs COUNT seeds, one after the other. The output names each seed that fails. Replaces the calling
# shell.
simulation_run() { # SCRATCH FIRST COUNT
  local runner
  runner=("$1"/release/*PackageTests.xctest)
  exec env MARTLET_SEED_FIRST="$2" MARTLET_SEEDS="$3" "${runner[0]}" --testing-library swift-testing \
    --filter '^DeliveryTests\.SimulationTests/promisesHold' 2>&1
}

# Builds and runs only the simulation, optimized. deploy/check/simulate and deploy/check/regressions source this file.
# shellcheck shell=bash

# Writes a package of DeliveryTests, an optional second target, and their dependencies.
simulation_package() { # FOLDER [TARGET]
  {
    cat Package.swift
    printf '\nvar needed: Set = ["DeliveryTests"%s]\n' "${2:+, \"$2\"}"
    cat << 'END'
for target in package.targets.reversed() where needed.contains(target.name) {
    for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
}
package.targets = package.targets.filter { needed.contains($0.name) }
package.products = []
END
  } > "$1/Package.swift.new"
  # A newer file with the same text would make SwiftPM plan the build again.
  cmp -s "$1/Package.swift.new" "$1/Package.swift" || mv "$1/Package.swift.new" "$1/Package.swift"
  rm -f "$1/Package.swift.new"
}

simulation_build() { # FOLDER LABEL
  step "$2" "$1/build.log" swift build --package-path "$1" -c release --build-tests -Xswiftc -enable-testing
}

# Runs COUNT seeds, one after the other; the output names each seed that fails. Replaces the calling shell.
simulation_run() { # FOLDER FIRST COUNT
  local runner
  runner=("$1"/.build/release/*PackageTests.xctest)
  exec env MARTLET_SEED_FIRST="$2" MARTLET_SEEDS="$3" "${runner[0]}" --testing-library swift-testing \
    --filter '^DeliveryTests\.SimulationTests/promisesHold' 2>&1
}

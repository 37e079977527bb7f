import Glibc

/// The environment variables of the process.
package enum Environment {
    package static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Returns nil also for an empty value.
    package static func nonEmpty(_ name: String) -> String? {
        value(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns nil also for a value of only spaces: `VISUAL=' '` names no program.
    package static func nonBlank(_ name: String) -> String? {
        value(name).flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    }
}

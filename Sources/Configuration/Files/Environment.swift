import Glibc

/// The environment variables of the process.
package enum Environment {
    package static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Returns the value of a variable; nil if the variable is unset or empty.
    package static func nonEmpty(_ name: String) -> String? {
        value(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the value of a variable; nil if the variable is unset or contains only white space. `VISUAL=' '`
    /// names no program.
    package static func nonBlank(_ name: String) -> String? {
        value(name).flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    }
}

import Glibc

/// The configuration file of commands without `--config`.
enum DefaultConfiguration {
    static let variable = "MARTLET_CONFIG"
    static let path = "/etc/martlet/martlet.yaml"
    static let help = "default $\(variable), else \(path)"

    /// nil if the variable is set to nothing, or is not set and this user cannot read the file.
    static func find(
        environment: (String) -> String? = Environment.value,
        isReadable: (String) -> Bool = { access($0, R_OK) == 0 }
    ) -> String? {
        if let named = environment(variable) { return named.isEmpty ? nil : named }
        return isReadable(path) ? path : nil
    }
}

import CommandKit
import Configuration
import Glibc

/// The configuration file that commands use without `--config`.
enum DefaultConfiguration: Equatable, Sendable {
    case none
    case file(String)
    /// A file at ``path`` that this user cannot read. Without the file, the command would use another broker.
    case unreadable(reason: String)

    static let variable = "MARTLET_CONFIG"
    static let path = "/etc/martlet/martlet.yaml"
    static let help = "default: $\(variable), else \(path)"

    /// Returns the file that the variable names, or `.none` if the variable is empty. If the variable is not set,
    /// returns the file at ``path``. Returns `.none` if the file does not exist, and `.unreadable` if the file cannot
    /// be read.
    ///
    /// - Parameter readError: returns the `errno` of opening a file for reading; 0 if the file is readable.
    static func find(
        environment: (String) -> String? = Environment.value,
        readError: (String) -> Int32 = { access($0, R_OK) == 0 ? 0 : errno }
    ) -> DefaultConfiguration {
        if let named = environment(variable) { return named.isEmpty ? .none : .file(named) }
        let code = readError(path)
        return switch code {
        case 0: .file(path)
        case ENOENT, ENOTDIR: .none
        default: .unreadable(reason: FileReader.failure(code).reason)
        }
    }

    /// The default of `--config` for the parser.
    var optionDefaults: [String: OptionDefault] {
        switch self {
        case .none: [:]
        case .file(let path): ["config": .value(path)]
        case .unreadable(let reason):
            [
                "config": .unreadable(
                    problem: "cannot read \(Self.path): \(reason)",
                    remedy: "pass another file with --config FILE or set \(Self.variable)")
            ]
        }
    }
}

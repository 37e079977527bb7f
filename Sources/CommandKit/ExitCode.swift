/// The exit status of a process.
package struct ExitCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let success = ExitCode(rawValue: 0)
    package static let failed = ExitCode(rawValue: 1)
    /// Invalid command line or configuration. Nothing was started.
    package static let usage = ExitCode(rawValue: 2)
}

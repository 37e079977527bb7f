import CommandKit
import Configuration
import Text

/// The users that a command concerns: `--user`, or the lines of `--user-file`.
enum UserChoice: Equatable, Sendable {
    case none
    case user(String)
    /// The path of a file with one user per line; `-` is standard input.
    case file(String)

    private static let fileBytesMax = 1 << 20
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Creates the choice from a parsed command line.
    ///
    /// - Parameter isRequired: whether the command needs a user.
    init(_ parsed: ParsedArguments, isRequired: Bool) throws(UsageError) {
        switch (parsed.options["user"], parsed.options["user-file"]) {
        case (.some, .some): throw UsageError("options --user and --user-file are mutually exclusive")
        case (let user?, nil): self = .user(user)
        case (nil, let file?): self = .file(file)
        case (nil, nil):
            guard !isRequired else { throw UsageError("option --user USER or --user-file FILE is missing") }
            self = .none
        }
    }

    /// Whether the users come from standard input, which then cannot answer a question.
    var isStandardInput: Bool { self == .file("-") }

    /// Returns the users without duplicates. If the file cannot be read, prints the reason and returns nil.
    func users() -> [String]? {
        switch self {
        case .none: return []
        case .user(let user): return [user]
        case .file(let path):
            do throws(ReferenceResolver.ReadFailure) {
                let bytes = try FileReader.bytes(of: path, bytesMax: Self.fileBytesMax, allowsStandardInput: true)
                guard let users = Self.users(in: bytes) else {
                    throw ReferenceResolver.ReadFailure(reason: "it is not valid UTF-8, or contains no user")
                }
                return users
            } catch {
                let place = path == "-" ? "standard input" : path
                Terminal.error.line("martlet: cannot read \(place): \(error.reason)".printable)
                return nil
            }
        }
    }

    /// Returns the lines of a file without empty lines and duplicates; nil if the file is not UTF-8 or has no text.
    ///
    /// Compares bytes, as the store does. Swift strings with different bytes can be equal, and a user may contain the
    /// separator U+2028.
    static func users(in bytes: [UInt8]) -> [String]? {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        let text = bytes.starts(with: byteOrderMark) ? bytes.dropFirst(byteOrderMark.count) : bytes[...]
        var known: Set<ArraySlice<UInt8>> = []
        let users = text.split(separator: UInt8(ascii: "\n"))
            .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
            .filter { !$0.isEmpty && known.insert($0).inserted }
        return users.isEmpty ? nil : users.map { String(decoding: $0, as: UTF8.self) }
    }
}

extension OptionSyntax {
    static func user(_ effect: String) -> OptionSyntax {
        OptionSyntax(
            name: "user", value: "USER", help: "\(effect); other users of this machine can see the arguments")
    }

    static let userFile = OptionSyntax(
        name: "user-file", value: "FILE", help: "file with one user per line, instead of --user; - is standard input")
}

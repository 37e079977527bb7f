/// The module of a function: its library, or a Swift module of the executable.
enum SymbolModule {
    /// The specializations of the standard library that the compiler adds to the executable.
    static let specialized = "Swift, specialized"
    /// The functions that belong to no library and have no mangled Swift name.
    static let other = "other"

    /// Returns the module of a function.
    ///
    /// - Parameters:
    ///   - symbol: The mangled name.
    ///   - object: The path of the library or executable that contains the function.
    static func name(of symbol: String, in object: String, program: String) -> String {
        guard object != program else { return swiftModule(of: symbol) ?? other }
        let file = object[(object.lastIndex(of: "/").map { object.index(after: $0) } ?? object.startIndex)...]
        let name = file.prefix { $0 != "." }
        return name.isEmpty ? other : String(name)
    }

    /// Returns the module that contains the source of a function; nil for functions of other languages.
    ///
    /// A method in an extension belongs to the module of the extension, not of the type
    /// (https://github.com/swiftlang/swift/blob/main/docs/ABI/Mangling.rst).
    private static func swiftModule(of symbol: String) -> String? {
        guard symbol.hasPrefix("$s") else { return nil }
        var rest = symbol.utf8.dropFirst(2)
        var module: String
        switch rest.first {
        case UInt8(ascii: "s"): (module, rest) = (specialized, rest.dropFirst())
        case UInt8(ascii: "S"): (module, rest) = (specialized, rest.dropFirst(2))
        default:
            guard let name = identifier(&rest) else { return nil }
            module = name
        }
        while let name = identifier(&rest) {
            switch rest.popFirst() {
            case UInt8(ascii: "C"), UInt8(ascii: "V"), UInt8(ascii: "O"): continue
            case UInt8(ascii: "E"): return name
            default: return module
            }
        }
        return module
    }

    /// Reads an identifier: its length, then its characters, as in `4JSON`.
    private static func identifier(_ rest: inout Substring.UTF8View) -> String? {
        let digits = rest.prefix { UInt8(ascii: "0") <= $0 && $0 <= UInt8(ascii: "9") }
        guard let length = Int(String(decoding: digits, as: UTF8.self)), length > 0 else { return nil }
        let name = rest.dropFirst(digits.count).prefix(length)
        rest = rest.dropFirst(digits.count + length)
        return String(decoding: name, as: UTF8.self)
    }
}

/// What callgrind has counted, each function without those that it calls.
public struct CallgrindProfile {
    /// Instructions of all.
    public let total: Int
    /// Instructions by module (see `SymbolModule`).
    public private(set) var byModule: [String: Int] = [:]

    /// - Parameters:
    ///   - lines: of callgrind's file, with positions that are not compressed
    ///     (https://valgrind.org/docs/manual/cl-format.html).
    ///   - program: path of the executable, whose functions are told apart by module.
    /// - Throws: `ProcessError` when the file is not whole.
    public init(lines: [String], program: String) throws(ProcessError) {
        var (objects, functions) = (Names(), Names())
        var (object, function) = ("", "")
        var module = ""
        var followsCall = false
        var total: Int?
        for line in lines {
            if line.first?.isNumber == true {
                // What a call cost belongs to those who were called.
                if !followsCall, let cost = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) {
                    byModule[module, default: 0] += cost
                }
                followsCall = false
            } else if let name = line.after("fn=") {
                function = functions.resolve(name)
                module = SymbolModule.name(of: function, in: object, program: program)
            } else if let name = line.after("ob=") {
                object = objects.resolve(name)
                module = SymbolModule.name(of: function, in: object, program: program)
            } else if line.hasPrefix("calls=") {
                followsCall = true
            } else if let name = line.after("cfn=") {
                _ = functions.resolve(name)
            } else if let name = line.after("cob=") {
                _ = objects.resolve(name)
            } else if let number = line.after("totals: ") {
                total = Int(number)
            }
        }
        let sum = byModule.values.reduce(0, +)
        guard let total, total == sum else {
            throw ProcessError("callgrind's file is not whole: \(sum) of \(total.map { "\($0)" } ?? "?") instructions")
        }
        self.total = total
    }

    /// Names are written out once, as in `(7) main`, then by their number.
    private struct Names {
        private var names: [Substring: String] = [:]

        mutating func resolve(_ text: Substring) -> String {
            guard text.first == "(", let end = text.firstIndex(of: ")") else { return String(text) }
            let number = text[..<end]
            let name = text[end...].dropFirst(2)
            if !name.isEmpty { names[number] = String(name) }
            return names[number] ?? String(text)
        }
    }
}

extension String {
    fileprivate func after(_ prefix: String) -> Substring? {
        hasPrefix(prefix) ? self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...] : nil
    }
}

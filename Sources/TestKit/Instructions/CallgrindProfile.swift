/// The instruction counts of a callgrind run. The count of a function excludes its callees.
public struct CallgrindProfile {
    public let total: Int
    /// Instructions by module (see `SymbolModule`).
    public private(set) var byModule: [String: Int] = [:]

    /// Reads callgrind's file.
    ///
    /// - Parameters:
    ///   - lines: The lines of callgrind's file, with uncompressed positions
    ///     (https://valgrind.org/docs/manual/cl-format.html).
    ///   - program: The path of the executable. Its functions are assigned to modules.
    /// - Throws: `ProcessError` if the file is incomplete.
    public init(lines: [String], program: String) throws(ProcessError) {
        var (objects, functions) = (Names(), Names())
        var (object, function) = ("", "")
        var module = ""
        var followsCall = false
        var total: Int?
        for line in lines {
            if line.first?.isNumber == true {
                // The cost of a call belongs to the callees.
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
            throw ProcessError("incomplete callgrind file: \(sum) of \(total.map { "\($0)" } ?? "?") instructions")
        }
        self.total = total
    }

    /// The compressed names. A name appears once, as in `(7) main`, and then only as its number.
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

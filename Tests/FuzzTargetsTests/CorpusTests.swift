import FuzzTargets
import Glibc
import Testing

/// The replay of the fuzzing corpus (`deploy/check/fuzz`). Under the address sanitizer, the replay also finds leaks.
@Suite struct CorpusTests {
    @Test(arguments: FuzzTarget.allCases)
    func everyInputCompletes(_ target: FuzzTarget) throws {
        let inputs = try #require(Self.inputs(of: target))
        #expect(inputs.count > 100)
        for input in inputs { input.withUnsafeBytes { target.run($0) } }
    }

    /// Inputs without a schema, without an instance, or with several zero bytes.
    @Test(arguments: ["", "\0", "{}\0", "\0{}", "{}\0{}\0{}"])
    func incompleteInputsComplete(_ input: String) {
        for target in FuzzTarget.allCases { Array(input.utf8).withUnsafeBytes { target.run($0) } }
    }

    /// Reads the inputs of a target. The file contains each input as its length in decimal, a newline, and its bytes.
    /// Returns nil if the file is missing or malformed.
    private static func inputs(of target: FuzzTarget, file: StaticString = #filePath) -> [[UInt8]]? {
        let folder = "\(file)".split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        guard let stream = fopen("\(folder)/Corpus/\(target.rawValue)", "r") else { return nil }
        defer { fclose(stream) }
        var inputs: [[UInt8]] = []
        while true {
            var digits = ""
            while case let byte = getc(stream), byte >= 0x30 {
                digits.unicodeScalars.append(Unicode.Scalar(UInt8(byte)))
            }
            guard let count = Int(digits), count <= 1 << 16 else { return digits.isEmpty ? inputs : nil }
            var input = [UInt8](repeating: 0, count: count)
            guard fread(&input, 1, count, stream) == count else { return nil }
            inputs.append(input)
        }
    }
}

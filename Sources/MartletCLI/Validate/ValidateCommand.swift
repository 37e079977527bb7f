import Actions
import CommandKit
import Configuration
import Delivery
import Glibc
import JSON
import JSONSchema
import Text

/// The command that validates documents against a schema, and prints mistakes on standard output: as text, or with
/// `--json` one line per document.
struct ValidateCommand: ConfiguredCommand {
    /// Maximum number of errors printed per document.
    static let errorsMax = 1000
    /// Maximum number of warnings printed per schema.
    static let warningsMax = 5

    let options: Options

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try Options(parsed) }

    func execute() throws(ConfigurationError) -> ExitCode {
        if let problem = options.unreadableConfig {
            Terminal.error.line("martlet: \(problem); checking requests without the rules of a configuration")
        }
        let rules: RequestRules? =
            if let path = options.configPath { try ConfigurationFile(path).requestRules() } else { nil }
        do throws(SchemaFileProblem) {
            return run(try schema(), rules)
        } catch {
            Terminal.error.line("martlet: \(error)")
            return .usage
        }
    }

    private func schema() throws(SchemaFileProblem) -> CompiledSchema {
        guard let path = options.schemaPath else { return ContractSchemas.notification }
        let folder = SchemaFolder(
            resources: options.resources,
            options: SchemaOptions(assertsFormat: options.assertsFormat, defaultDraft: options.draft),
            hint: "pass the file or folder as --resource URI=FILE", readsPipes: true)
        let schema = try folder.compile(path)
        for warning in schema.warnings.prefix(Self.warningsMax) {
            Terminal.error.line("martlet: \(path): \(warning)".printable)
        }
        return schema
    }

    private func run(_ schema: CompiledSchema, _ rules: RequestRules?) -> ExitCode {
        let check = DocumentCheck(
            schema, isOfMessages: options.schemaPath == nil, rules,
            errorsMax: options.printsAllErrors ? Self.errorsMax : 1)
        var code = ExitCode.success
        for file in options.files {
            do throws(Failure) {
                guard try checkAll(in: file, by: check) else { continue }
                if code == .success { code = .failed }
            } catch {
                code = .usage
                switch error {
                case .input(let error):
                    Terminal.error.line("martlet: cannot read \(file): \(error.reason)".printable)
                case .output:
                    // The first use of `Terminal.error` may change `errno`.
                    let reason = String(cString: strerror(errno))
                    Terminal.error.line("martlet: cannot write to standard output: \(reason)")
                    return code
                }
            }
        }
        return code
    }

    private enum Failure: Error {
        case input(ReferenceResolver.ReadFailure)
        /// A failure to write to standard output.
        case output
    }

    /// Checks all documents in a file, and prints the results. Returns whether any document is invalid.
    private func checkAll(in file: String, by check: DocumentCheck) throws(Failure) -> Bool {
        var count = 0
        var invalid = 0
        try forEachDocument(of: file, bytesMax: check.limits.bytesMax) { text, line throws(Failure) in
            let result = check.result(of: text)
            count += 1
            if !result.isValid { invalid += 1 }
            if options.isJSON {
                try print(result.json(file: options.files.count > 1 ? file : nil, firstLine: line))
            } else {
                for line in lines(result, text, file, firstLine: line) { try print(line) }
            }
        }
        if !options.isJSON, let line = summary(file, count, invalid: invalid) { try print(line) }
        return invalid > 0
    }

    private func forEachDocument(
        of file: String, bytesMax: Int, _ body: (_ text: [UInt8], _ line: Int) throws(Failure) -> Void
    ) throws(Failure) {
        var line = 1
        do {
            var reader = try DocumentReader(file, bytesMax: bytesMax)
            guard options.isLines else { return try body(try reader.all(), line) }
            while let text = try reader.line() {
                if !text.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) { try body(text, line) }
                line += 1
            }
        } catch let error as ReferenceResolver.ReadFailure {
            throw .input(error)
        } catch {
            throw .output
        }
    }

    private func print(_ line: String) throws(Failure) {
        guard Terminal.output.line(line) else { throw .output }
    }

    /// Returns the mistakes and warnings of a document as lines. Adds excerpts of the document only on a terminal,
    /// because a log must not contain payloads.
    private func lines(_ result: ValidationResult, _ text: [UInt8], _ file: String, firstLine: Int) -> [String] {
        var lines: [String] = []
        func add(_ message: String, at position: JSONPosition) {
            let place = "\(Self.shown(file)):\(position.line + firstLine - 1):\(position.column)"
            lines.append("\(place): \(message)".printable)
            if Terminal.output.isTerminal {
                lines.append(SourceExcerpt.text(text, position, width: Terminal.output.width))
            }
        }
        for error in result.errors { add(error.message, at: error.position) }
        if result.hasMore { lines.append("\(Self.shown(file)): more errors omitted".printable) }
        for warning in result.warnings { add("warning: \(warning.key.sentence)", at: warning.position) }
        return lines
    }

    private func summary(_ file: String, _ count: Int, invalid: Int) -> String? {
        guard options.isLines else { return invalid == 0 ? "\(Self.shown(file)): valid".printable : nil }
        return "\(Self.shown(file)): \(count - invalid) of \(count) documents are valid".printable
    }

    private static func shown(_ file: String) -> String { file == "-" ? "standard input" : file }
}

import Delivery
import JSON
import JSONSchema

/// Checks documents against a schema: a line of JSON for each on standard output, and on a terminal the offending line.
struct ValidateCommand {
    /// Errors that are told of one document.
    static let errorsMax = 1000
    /// For a schema of one's own; without one, a document is a message and has the limits of messages.
    static let limits = JSONLimits(bytesMax: 64 << 20, depthMax: 100_000)

    let options: Invocation.ValidateOptions

    func run() -> ExitCode {
        do throws(SchemaFileProblem) {
            return run(try schema())
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
            hint: "name its file or folder, as in --resource URI=FILE", readsPipes: true)
        let schema = try folder.compile(path)
        for warning in schema.warnings where Terminal.error.isTerminal {
            Terminal.error.line("martlet: \(path): \(warning)".printable)
        }
        return schema
    }

    private func run(_ schema: CompiledSchema) -> ExitCode {
        let check = DocumentCheck(
            schema, limits: options.schemaPath == nil ? JSONLimits() : Self.limits,
            errorsMax: options.tellsAllErrors ? Self.errorsMax : 1)
        var code = ExitCode.success
        for file in options.files {
            do throws(ReferenceResolver.ReadFailure) {
                guard try checkAll(in: file, by: check) else { continue }
                if code == .success { code = .failed }
            } catch {
                Terminal.error.line("martlet: cannot read \(file): \(error.reason)".printable)
                code = .usage
            }
        }
        return code
    }

    /// Whether something in the file is invalid.
    private func checkAll(in file: String, by check: DocumentCheck) throws(ReferenceResolver.ReadFailure) -> Bool {
        var reader = try DocumentReader(file, bytesMax: check.limits.bytesMax)
        guard options.isLines else { return !tell(check.result(of: try reader.all()), file, line: 1) }
        var isAnyInvalid = false
        var line = 0
        while let text = try reader.line() {
            line += 1
            guard text.contains(where: { $0 > UInt8(ascii: " ") }) else { continue }
            if !tell(check.result(of: text), file, line: line) { isAnyInvalid = true }
        }
        return isAnyInvalid
    }

    /// Whether it is valid.
    private func tell(_ checked: (ValidationResult, text: [UInt8]), _ file: String, line: Int) -> Bool {
        let (result, text) = checked
        Terminal.output.line(result.json(firstLine: line))
        guard Terminal.error.isTerminal else { return result.isValid }
        for error in result.errors {
            let place = "\(file):\(error.position.line + line - 1):\(error.position.column)"
            Terminal.error.line("\(place): \(error.message)".printable)
            Terminal.error.line(SourceExcerpt.text(text, error.position, width: Terminal.error.width))
        }
        return result.isValid
    }
}

/// A schema with the memory that checking takes, for one document after the other.
struct DocumentCheck {
    /// Documents may be large here.
    private static let stepsPerValue = 8

    let limits: JSONLimits
    private let validator: SchemaValidator
    private let errorsMax: Int

    init(_ schema: CompiledSchema, limits: JSONLimits, errorsMax: Int) {
        self.limits = limits
        self.errorsMax = errorsMax
        validator = SchemaValidator(schema, stepsPerValue: Self.stepsPerValue)
    }

    func result(of text: [UInt8]) -> (ValidationResult, text: [UInt8]) {
        let document: JSONDocument
        do {
            document = try JSONDocument(text, limits: limits)
        } catch {
            return (ValidationResult(errors: [.json(error)]), text)
        }
        let violations =
            errorsMax == 1
            ? validator.firstViolation(in: document.root).map { [$0] } ?? []
            : validator.violations(in: document.root, max: errorsMax)
        return (
            ValidationResult(
                errors: violations.map { .schema($0, document.position(ofNode: $0.nodeIndex)) }), text
        )
    }
}

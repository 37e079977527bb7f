import Delivery
import JSON
import JSONSchema

/// Checks documents against a schema: a line of JSON for each on standard output, and on a terminal the offending line.
struct ValidateCommand {
    /// Errors that are told of one document.
    static let errorsMax = 1000
    /// Warnings about a schema that are told.
    static let warningsMax = 5
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
        for warning in schema.warnings.prefix(Self.warningsMax) {
            Terminal.error.line("martlet: \(path): \(warning)".printable)
        }
        return schema
    }

    private func run(_ schema: CompiledSchema) -> ExitCode {
        let check = DocumentCheck(
            schema, isOfMessages: options.schemaPath == nil, errorsMax: options.tellsAllErrors ? Self.errorsMax : 1)
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
                    Terminal.error.line("martlet: cannot write what was found")
                    return code
                }
            }
        }
        return code
    }

    private enum Failure: Error {
        case input(ReferenceResolver.ReadFailure)
        /// Nobody would learn what is said.
        case output
    }

    /// Whether something in the file is invalid.
    private func checkAll(in file: String, by check: DocumentCheck) throws(Failure) -> Bool {
        var isAnyInvalid = false
        try forEachDocument(of: file, bytesMax: check.limits.bytesMax) { text, line throws(Failure) in
            if try !tell(check.result(of: text), text, file, line: line) { isAnyInvalid = true }
        }
        return isAnyInvalid
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

    /// Whether it is valid.
    private func tell(
        _ result: ValidationResult, _ text: [UInt8], _ file: String, line: Int
    ) throws(Failure) -> Bool {
        let name = options.files.count > 1 ? file : nil
        guard Terminal.output.line(result.json(file: name, firstLine: line)) else { throw .output }
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
    /// Limits hold as well that no schema can say.
    private let isOfMessages: Bool
    private let errorsMax: Int

    init(_ schema: CompiledSchema, isOfMessages: Bool, errorsMax: Int) {
        limits = isOfMessages ? JSONLimits() : ValidateCommand.limits
        validator = SchemaValidator(schema, stepsPerValue: Self.stepsPerValue)
        self.isOfMessages = isOfMessages
        self.errorsMax = errorsMax
    }

    func result(of text: [UInt8]) -> ValidationResult {
        let document: JSONDocument
        do {
            document = try JSONDocument(text, limits: limits)
        } catch {
            return ValidationResult(errors: [.json(error)])
        }
        let violations =
            errorsMax == 1
            ? validator.firstViolation(in: document.root).map { [$0] } ?? []
            : validator.violations(in: document.root, max: errorsMax + 1)
        guard violations.isEmpty else { return result(violations, document) }
        guard isOfMessages, let refusal = MessageLimits.refusal(of: document.root) else { return ValidationResult() }
        let place = refusal.path.flatMap { document.root.at(pointer: $0) } ?? document.root
        return ValidationResult(errors: [.limit(refusal, document.position(of: place))])
    }

    private func result(_ violations: [SchemaViolation], _ document: JSONDocument) -> ValidationResult {
        let told = violations.prefix(errorsMax)
        let positions = document.positions(ofNodes: told.map(\.nodeIndex))
        return ValidationResult(
            errors: zip(told, positions).map { .schema($0, $1) }, hasMore: violations.count > errorsMax)
    }
}

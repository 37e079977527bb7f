import JSON
import TestKit

@testable import JSONSchema

/// A file in the format of the official JSON Schema test suite. It contains schemas, each with values and verdicts.
struct SuiteFile: CustomStringConvertible {
    /// The path below the suite's folder, without `.json`, such as `optional/bignum`.
    var name: String
    var path: String

    var description: String { name }

    /// A value whose verdict differs from the suite's, or a valid value on which the fast path gives up. Also a schema
    /// that does not compile, or an incomplete case.
    struct Failure: Hashable, CustomStringConvertible {
        var group: String
        var test: String
        var reason: String

        var description: String { "\(group) / \(test): \(reason)" }
    }

    /// Runs all cases, adds their number to `count`, and returns the failures.
    func failures(
        remotes: SchemaResources, options: SchemaOptions, count: inout Int
    ) throws -> [Failure] {
        var failures: [Failure] = []
        for group in try JSONDocument(try Files.bytes(of: path), limits: JSONLimits(bytesMax: 1 << 24)).root.elements {
            let name = group["description"]?.string ?? ""
            let tests = group["tests"].map { Array($0.elements) } ?? []
            count += tests.count
            guard let text = group["schema"]?.sourceBytes else {
                failures.append(Failure(group: name, test: "", reason: "the schema is missing"))
                continue
            }
            let validator: SchemaValidator
            do {
                validator = SchemaValidator(
                    try CompiledSchema(JSONDocument(text), resources: remotes, options: options))
            } catch {
                failures.append(Failure(group: name, test: "", reason: "\(error)"))
                continue
            }
            for test in tests {
                let description = test["description"]?.string ?? ""
                guard let data = test["data"], let isValid = test["valid"]?.bool else {
                    failures.append(
                        Failure(group: name, test: description, reason: "the data or the verdict is missing"))
                    continue
                }
                let violations = validator.violations(in: data)
                if (validator.firstViolation(in: data) == nil) != isValid || violations.isEmpty != isValid {
                    failures.append(
                        Failure(
                            group: name, test: description,
                            reason: isValid ? violations.first?.description ?? "" : "an invalid value is accepted"))
                } else if isValid, validator.schema.isPlain, !validator.isPlainlyValid(data) {
                    failures.append(Failure(group: name, test: description, reason: "the fast path gives up"))
                }
            }
        }
        return failures
    }

    /// Returns the JSON files of a folder and of its subfolders.
    static func all(in folder: String, below prefix: String = "") -> [SuiteFile] {
        ((try? Files.names(in: folder)) ?? []).flatMap { name -> [SuiteFile] in
            if name.hasSuffix(".json") {
                return [SuiteFile(name: prefix + name.dropLast(".json".count), path: "\(folder)/\(name)")]
            }
            return all(in: "\(folder)/\(name)", below: "\(prefix)\(name)/")
        }
    }
}

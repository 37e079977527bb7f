import CommandKit
import Configuration
import JSONSchema

extension ValidateCommand {
    static let syntax = CommandSyntax(
        path: ["validate"],
        summary: "Validate requests or other documents against a JSON Schema.",
        discussion: """
            Print FILE: valid, or FILE:LINE:COLUMN and the mistake. On a terminal, also print the line with a caret; in
            a pipe or file, print no excerpt of the document. With --json, print one line per document: {"valid":true},
            or false with errors. Exit code 0: all documents are valid, 1: a document is invalid, 2: invalid schema,
            unreadable file, failed output, or invalid usage.

            Without --schema, documents are validated as requests: by the schema and by limits in bytes. With --config,
            documents are validated as by a worker with this file: also by apps, environments, payload schemas and the
            maximum message size. A key inside aps that Apple does not define causes a warning. A schema is 2020-12 or
            draft-07 and may refer to files in its folder by $id or name; nothing is downloaded. FILE may be - for
            standard input.
            """,
        operands: "FILE…",
        options: [
            OptionSyntax(
                name: "config", value: "FILE",
                help: "configuration file of the worker (YAML; \(DefaultConfiguration.help))", isAdvisory: true),
            .json,
            OptionSyntax(
                name: "schema", value: "FILE", help: "schema (default: the schema of notification requests)",
                replacedDefault: "config"),
            OptionSyntax(name: "all-errors", help: "print all errors of a document instead of the first"),
            OptionSyntax(name: "lines", help: "treat each line as a document"),
            OptionSyntax(
                name: "resource", value: "URI=FILE|FOLDER",
                help: "file or folder for references that begin with URI; repeatable", repetition: .list, values: .files
            ),
            OptionSyntax(name: "assert-format", help: "treat values that violate their format as invalid"),
            OptionSyntax(
                name: "draft", value: "DRAFT",
                help: "draft of a schema without $schema: 2020-12 or draft-07 (default: 2020-12)",
                values: .words(["2020-12", "draft-07"])),
        ])

    struct Options: Equatable, Sendable {
        /// The path of the schema; nil for the schema of notification requests.
        var schemaPath: String?
        /// The configuration of a worker, whose rules also apply; nil to check only the contract.
        var configPath: String?
        /// The reason why the default configuration file cannot be read; otherwise nil.
        var unreadableConfig: String?
        var resources: [NamedResource] = []
        /// Draft of a schema without `$schema`.
        var draft = SchemaDraft.draft202012
        var assertsFormat = false
        var printsAllErrors = false
        /// Whether each line is a document.
        var isLines = false
        var isJSON = false
        /// The files that contain documents; `-` is standard input.
        var files: [String]
    }
}

extension ValidateCommand.Options {
    init(_ parsed: ParsedArguments) throws(UsageError) {
        self.init(files: parsed.operands)
        schemaPath = parsed.options["schema"]
        configPath = parsed.options["config"]
        unreadableConfig = parsed.unreadableDefaults["config"]
        if schemaPath != nil, configPath != nil {
            throw UsageError("options --config and --schema are mutually exclusive")
        }
        if schemaPath == nil {
            if let option = ["draft", "assert-format"].first(where: { parsed.has($0) }) {
                throw UsageError("option --\(option) requires --schema")
            }
            if parsed.lists["resource"] != nil { throw UsageError("option --resource requires --schema") }
        }
        if parsed.options["draft"] == "draft-07" { draft = .draft07 }
        for text in parsed.lists["resource"] ?? [] {
            guard let equals = text.firstIndex(of: "="), equals > text.startIndex, text.last != "=" else {
                throw UsageError("option --resource: expected URI=FILE or URI=FOLDER, got '\(text)'")
            }
            resources.append(
                NamedResource(uri: String(text[..<equals]), path: String(text[text.index(after: equals)...])))
        }
        assertsFormat = parsed.has("assert-format")
        printsAllErrors = parsed.has("all-errors")
        isLines = parsed.has("lines")
        isJSON = parsed.has("json")
    }
}

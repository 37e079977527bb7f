import CommandKit
import Configuration
import JSONSchema

extension ValidateCommand {
    static let syntax = CommandSyntax(
        path: ["validate"],
        summary: "Check documents against a JSON Schema: messages, or any others.",
        discussion: """
            Prints FILE: valid, or FILE:LINE:COLUMN with a sentence on what is wrong there; on a terminal the line
            itself as well, with a caret, but nothing of a document in a pipe or a file. With --json a line for each
            document: {"valid":true}, or false with errors. Exit code 0: all are valid, 1: one is not, 2: the schema
            is broken, a file cannot be read, the result cannot be written, or wrong usage.

            Without --schema documents are checked as messages: schema, and limits in bytes. With --config they are
            checked as a worker with that file checks them: apps, environments, payload schemas and the largest
            message, too. A key inside aps that Apple does not define is told as a warning, which makes nothing
            invalid. A schema is 2020-12 or draft-07 and may refer to files in its folder by their $id or name;
            nothing is fetched. FILE may be - for standard input.
            """,
        operands: "FILE…",
        options: [
            OptionSyntax(
                name: "config", value: "FILE",
                help: "the worker's configuration file (YAML); \(DefaultConfiguration.help)", isAdvisory: true),
            .json,
            OptionSyntax(
                name: "schema", value: "FILE", help: "the schema; default that of messages", replacedDefault: "config"),
            OptionSyntax(name: "all-errors", help: "tell all errors of a document, not the first alone"),
            OptionSyntax(name: "lines", help: "each line is a document, and checked as it comes"),
            OptionSyntax(
                name: "resource", value: "URI=FILE|FOLDER",
                help: "where references lead to that begin so; several are allowed", repetition: .list, values: .files),
            OptionSyntax(name: "assert-format", help: "a value that breaks its format is invalid"),
            OptionSyntax(
                name: "draft", value: "DRAFT", help: "of a schema without $schema: 2020-12 (default), draft-07",
                values: .words(["2020-12", "draft-07"])),
        ])

    struct Options: Equatable, Sendable {
        /// nil: that of messages.
        var schemaPath: String?
        /// Of a worker, whose rules for requests hold as well.
        var configPath: String?
        /// Why the default configuration file cannot be read; nil if none is needed.
        var unreadableConfig: String?
        var resources: [NamedResource] = []
        /// The draft of a schema that does not name it.
        var draft = SchemaDraft.draft202012
        var assertsFormat = false
        var tellsAllErrors = false
        /// Whether each line is a document.
        var isLines = false
        var isJSON = false
        /// `-` is standard input.
        var files: [String]
    }
}

extension ValidateCommand.Options {
    init(_ parsed: ParsedArguments) throws(UsageError) {
        self.init(files: parsed.operands)
        schemaPath = parsed.options["schema"]
        configPath = parsed.options["config"]
        unreadableConfig = parsed.unreadableDefaults["config"]
        if schemaPath != nil, configPath != nil { throw UsageError("option --config does not go with --schema") }
        if schemaPath == nil {
            if let option = ["draft", "assert-format"].first(where: { parsed.has($0) }) {
                throw UsageError("option --\(option) goes with --schema")
            }
            if parsed.lists["resource"] != nil { throw UsageError("option --resource goes with --schema") }
        }
        if parsed.options["draft"] == "draft-07" { draft = .draft07 }
        for text in parsed.lists["resource"] ?? [] {
            guard let equals = text.firstIndex(of: "="), equals > text.startIndex, text.last != "=" else {
                throw UsageError("option --resource takes URI=FILE or URI=FOLDER, not '\(text)'")
            }
            resources.append(
                NamedResource(uri: String(text[..<equals]), path: String(text[text.index(after: equals)...])))
        }
        assertsFormat = parsed.has("assert-format")
        tellsAllErrors = parsed.has("all-errors")
        isLines = parsed.has("lines")
        isJSON = parsed.has("json")
    }
}

import PostgreSQL
import TestKit
import Testing

@testable import RegistrationStores

/// A comparison of the statements of `baseline-registrations` with those of the store.
@Suite struct BaselineStatementsTests {
    @Test(arguments: [
        ("LOOK_UP", PostgresReaderStatement.lookUp.prepared), ("LOCK", PostgresWriterStatement.lock.prepared),
        ("LOCK_ROWS", PostgresWriterStatement.lockRows.prepared),
        ("READ_MARKS", PostgresWriterStatement.readMarks.prepared),
        ("NEW_APPS", PostgresWriterStatement.newApps.prepared),
        ("UPDATE_ROWS", PostgresWriterStatement.updateRows.prepared),
    ])
    func `The baseline executes the statements of the store`(name: String, statement: PreparedStatement) throws {
        let macros = try Self.macros()
        #expect(macros[name] == statement.sql)
        let types = try #require(macros["\(name)_TYPES"]).split { !$0.isNumber }.compactMap { UInt32($0) }
        #expect(types == statement.parameters.map(\.rawValue))
    }

    /// Returns the texts of the macros. A text consists of string literals and of names of earlier macros.
    private static func macros() throws -> [String: String] {
        let lines = try Files.lines(of: Products.file("Sources/baseline-registrations/statements.h"))
        var macros: [String: String] = [:]
        var name = ""
        for line in lines {
            var text = line[...]
            if let definition = text.wholeMatch(of: /#define (\w+)(.*)/) {
                name = String(definition.1)
                text = definition.2
            }
            if text.last == "\\" { text.removeLast() }
            macros[name, default: ""] += value(of: text, macros)
        }
        return macros
    }

    private static func value(of text: Substring, _ macros: [String: String]) -> String {
        text.matches(of: /"([^"]*)"|(\w+)|[{},]/).map { part -> String in
            if let literal = part.1 { return String(literal).replacing("\\n", with: "\n") }
            return part.2.flatMap { macros[String($0)] } ?? String(part.0)
        }.joined()
    }
}

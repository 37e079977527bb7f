import JSON
import JSONSchema
import Testing

@testable import Delivery

/// What the README shows is true.
@Suite struct ReadmeTests {
    @Test func itsRequestIsOne() throws {
        let blocks = try RepositoryFile.read("README.md").components(between: "```json\n", and: "```")
        #expect(blocks.count == 1)
        let validator = SchemaValidator(ContractSchemas.notification)
        for block in blocks {
            #expect(validator.firstViolation(in: try JSONDocument(block).root) == nil)
        }
    }

    @Test func theFoldersThatItNamesAreThere() throws {
        let table = try RepositoryFile.read("README.md").components(between: "## The folders", and: "Architecture:")
        let names = table.joined().components(between: "`", and: "`").filter { !$0.contains("…") }
        #expect(names.count > 20)
        for name in names { #expect(RepositoryFile.exists(name), "\(name)") }
    }
}

import JSON
import TestKit
import Testing

extension ToolTests {
    /// The official JSON Schema test suite, run through `martlet validate`.
    ///
    /// Newer than the suite that the Linux distribution packages.
    @Suite struct OfficialSuite {
        @Test(arguments: [("2020-12", "draft2020-12", 1257), ("draft-07", "draft7", 913)])
        func everyRequiredCasePasses(_ draft: String, _ folder: String, _ count: Int) async throws {
            let judged = try await OfficialSuiteFiles.fetched().judged(
                "tests/\(folder)", draft: draft, assertsFormat: false)
            #expect(judged.wrong == [])
            #expect(judged.count == count)
        }

        /// `contentEncoding` and `contentMediaType` are annotations. `Schemas.md` documents this for draft-07.
        @Test(arguments: [("2020-12", "draft2020-12", 649, 0), ("draft-07", "draft7", 552, 4)])
        func everyOptionalCaseExceptContentsPasses(
            _ draft: String, _ folder: String, _ count: Int, _ contents: Int
        ) async throws {
            let judged = try await OfficialSuiteFiles.fetched().judged(
                "tests/\(folder)/optional", draft: draft, assertsFormat: true)
            #expect(judged.wrong.filter { !$0.hasPrefix("content.json: ") } == [])
            #expect(judged.wrong.count == contents)
            #expect(judged.count == count)
        }
    }
}

import JSON
import TestKit
import Testing

extension ToolTests {
    /// The official JSON Schema test suite, run through `martlet validate`.
    ///
    /// This version of the suite is newer than Debian's package `json-schema-test-suite`.
    @Suite struct OfficialSuite {
        @Test(arguments: [("2020-12", "draft2020-12", 1257), ("draft-07", "draft7", 913)])
        func everyRequiredCasePasses(_ draft: String, _ folder: String, _ count: Int) async throws {
            let judged = try await OfficialSuiteFiles.fetched().judged(
                "tests/\(folder)", draft: draft, assertsFormat: false)
            #expect(judged.wrong == [])
            #expect(judged.count == count)
        }

        /// Runs the optional cases, of which the cases of `content.json` may fail.
        ///
        /// In Martlet, `contentEncoding` and `contentMediaType` are annotations, which draft-07 permits.
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

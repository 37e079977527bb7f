import Glibc
import Testing

@testable import SQLite

@Suite struct SQLiteErrorTests {
    /// The result codes are those of https://sqlite.org/rescode.html.
    @Test(arguments: [
        (1, 0, SQLiteError.Code.statement), (5, 0, .busy), (261, 0, .busy), (6, 0, .busy), (7, 0, .memory),
        (8, 0, .readOnly), (1032, 0, .readOnly), (9, 0, .interrupted), (778, EIO, .inputOutput),
        (778, EDQUOT, .full), (4874, ENOSPC, .full), (11, 0, .corrupt), (13, 0, .full), (14, EACCES, .cannotOpen),
        (18, 0, .value), (1555, 0, .constraint), (26, 0, .corrupt),
    ])
    func resultCodesHaveAMeaning(_ result: Int32, _ systemError: Int32, _ code: SQLiteError.Code) {
        let error = SQLiteError(result: result, systemError: systemError, path: "/store/registrations.sqlite")
        #expect(error.code == code)
        #expect(error.extendedCode == result)
        #expect(error.isCausedByData == [.value, .constraint, .missingKey].contains(code))
    }

    @Test func theMessageNamesTheFileAndTheReason() {
        let error = SQLiteError(result: 778, systemError: EIO, path: "/store/registrations.sqlite")
        #expect(error.message == "cannot use /store/registrations.sqlite: input or output failed: Input/output error")
        #expect(error.description == error.message + " (SQLite 778)")
        #expect(SQLiteError(.closed, "closed").description == "closed")
    }

    @Test(arguments: [
        (EROFS, SQLiteError.Code.readOnly), (ENOSPC, .full), (ENOENT, .cannotOpen), (EACCES, .cannotOpen),
    ])
    func errorsOfTheSystemHaveAMeaning(_ number: Int32, _ code: SQLiteError.Code) {
        let error = SQLiteError(cannotOpen: "/store/registrations.sqlite", errno: number)
        #expect(error.code == code)
        #expect(error.message.contains("/store/registrations.sqlite: "))
    }
}

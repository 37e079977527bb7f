import Registrations
import SQLite
import Testing

@testable import RegistrationStores

@Suite struct StoreFaultTests {
    @Test(
        arguments: [
            (.unreachable, [.inUse, .busy, .closed, .interrupted, .queueFull, .missing, .olderVersion]),
            (.refused, [.unavailable, .cannotOpen, .full, .readOnly, .moved, .inputOutput, .memory]),
            (.schema, [.foreign, .newerVersion, .corrupt, .statement]),
            (.data, [.constraint, .value]), (.keys, [.missingKey]),
        ] as [(StoreFault.Code, [SQLiteError.Code])])
    func `Errors of a database file have a code, a class and a sentence`(
        code: StoreFault.Code, errors: [SQLiteError.Code]
    ) {
        for error in errors {
            let fault = StoreFault(SQLiteError(error, "cannot use the file"))
            #expect(fault.code == code && fault.errorClass == error.rawValue)
            #expect(fault.sentence.hasPrefix("cannot use the file"))
        }
    }
}

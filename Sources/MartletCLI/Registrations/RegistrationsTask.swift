import CommandKit
import DeadLetters
import EventLoop
import RegistrationTools
import Registrations
import Text

/// The store, the loop and the signals of a running command on registrations. Loop-bound.
final class RegistrationsTask {
    let access: RegistrationsAccess
    /// The users that the command concerns.
    let users: [String]
    let loop: EpollLoop
    let store: StoreSession
    let interruption: Interruption

    /// Creates the task of a command. Does not open the store.
    ///
    /// - Throws: The reason why the store cannot be used.
    init(
        _ access: RegistrationsAccess, of users: [String], on loop: EpollLoop, _ interruption: Interruption
    ) throws(StoreFault) {
        (self.access, self.users, self.loop, self.interruption) = (access, users, loop, interruption)
        store = StoreSession(
            try access.writer(loop), on: loop, devicesPerUserMax: access.devicesPerUserMax,
            isStopped: { interruption.code != nil })
    }

    /// Prints a fault, unless a signal has interrupted the command. Returns the exit code.
    func report(_ fault: StoreFault) -> ExitCode { interruption.code ?? access.report(fault) }

    /// Reads registrations in pages until all are read, `body` returns false, or a signal arrives. Returns the exit
    /// code after a failure or a signal; otherwise nil.
    func read(_ filter: RegistrationPage.Filter, _ body: ([Registration]) async -> Bool) async -> ExitCode? {
        do throws(StoreFault) {
            try await store.read(filter) { page in interruption.code == nil ? await body(page) : false }
        } catch {
            return report(error)
        }
        return interruption.code
    }

    /// Reads marks, as ``read(_:_:)`` reads registrations.
    func readMarks(_ body: ([EndMark]) async -> Bool) async -> ExitCode? {
        do throws(StoreFault) {
            try await store.readMarks { page in interruption.code == nil ? await body(page) : false }
        } catch {
            return report(error)
        }
        return interruption.code
    }
}

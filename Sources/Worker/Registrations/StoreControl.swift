import AdminHTTP
import Configuration
import ControlProtocol
import EventLoop
import RegistrationStores
import Registrations

/// The changes of the worker's SQLite store that commands request at the control socket. Runs on the control loop.
///
/// The control socket accepts only the user of the worker, who could also change the file itself.
struct StoreControl {
    private let groups: LaneGroups
    private let loop: EpollLoop

    init(_ groups: LaneGroups, on loop: EpollLoop) {
        (self.groups, self.loop) = (groups, loop)
    }

    private static let wrongStore = "this worker does not use the store that the command changes"

    /// Performs a change.
    ///
    /// - Parameters:
    ///   - body: the change as JSON.
    ///   - answer: called on the control loop; not called if the worker stops meanwhile.
    func perform(_ body: [UInt8], _ answer: @escaping @Sendable (AdminResponse) -> Void) {
        let change: StoreChange
        do throws(CommandViolation) {
            change = try StoreChange(json: body, now: loop.now.unixMilliseconds)
        } catch {
            return answer(.error(400, error.sentence))
        }
        let group = groups.inForce
        guard let thread = group.registrations,
            group.configuration.registrations?.store == .sqlite(path: change.path)
        else { return answer(.error(404, Self.wrongStore)) }
        thread.perform(change.work) { [loop] response in
            loop.post { answer(.json(response.json)) }
        }
    }
}

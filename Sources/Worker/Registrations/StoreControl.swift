import AdminHTTP
import Configuration
import ControlProtocol
import Crypto
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

    /// Returns the reason why the worker refuses to re-encrypt rows: its active data key differs from that of the
    /// command. With its own key, the worker would find no row to encrypt, and the operator would remove the key of all
    /// rows.
    private static func otherKey(_ activeKey: DataKeySummary, _ requested: DataKeySummary) -> String {
        "the worker encrypts with data key \(activeKey.text), and the key file of the command has data key "
            + "\(requested.text); reload the worker; if its log has configuration.refused, correct that mistake first"
    }

    /// Performs a change.
    ///
    /// - Parameters:
    ///   - body: the change as JSON.
    ///   - answer: called on the control loop; not called if the worker stops meanwhile.
    func perform(_ body: [UInt8], _ answer: @escaping @Sendable (AdminResponse) -> Void) {
        let group = groups.inForce
        guard let thread = group.registrations, let settings = group.configuration.registrations else {
            return answer(.error(404, Self.wrongStore))
        }
        let (indexKey, activeKey): (String, DataKeySummary)
        do throws(CryptoError) {
            (indexKey, activeKey) = (try settings.keys.indexKeyFingerprint(), try settings.keys.activeDataKeySummary())
        } catch {
            return answer(.error(500, error.message))
        }
        let change: StoreChange
        do throws(CommandViolation) {
            change = try StoreChange(json: body, indexKey: indexKey, now: loop.now.unixMilliseconds)
        } catch {
            return answer(.error(400, error.sentence))
        }
        guard settings.store == .sqlite(path: change.path) else { return answer(.error(404, Self.wrongStore)) }
        if case .rekey(let dataKey, _) = change.work, dataKey != activeKey {
            return answer(.error(409, Self.otherKey(activeKey, dataKey)))
        }
        thread.perform(change.work) { [loop] response in
            loop.post { answer(.json(response.json)) }
        }
    }
}

import Configuration
import EventLoop
import RegistrationStores
import Registrations

extension RegistrationStore {
    /// Creates the store of a configuration, and loads its C library.
    ///
    /// - Throws: if the C library is missing or cannot be used.
    convenience init(_ settings: WorkerConfiguration.Registrations) throws(StoreFault) {
        let password = settings.password
        try self.init(settings.store, password: { password }, keys: settings.keys)
    }

    /// Returns the reader or writer that `create` returns.
    ///
    /// - Throws: `resources` if `create` fails.
    func connection<Connection>(
        _ create: (RegistrationStore) throws(StoreFault) -> Connection
    ) throws(TransportError) -> Connection {
        do throws(StoreFault) {
            return try create(self)
        } catch {
            throw TransportError(.resources, error.sentence)
        }
    }
}

extension WorkerConfiguration.Registrations {
    /// Returns whether one store can serve both configurations. Two writers of one SQLite file need the same store.
    func hasSameStore(as other: Self) -> Bool {
        store == other.store && keys == other.keys && password == other.password
    }
}

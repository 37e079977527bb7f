import Configuration
import EventLoop
import RegistrationStores
import Registrations

extension RegistrationStore {
    /// Creates the store of a configuration.
    ///
    /// - Throws: if the C library of the store is missing or too old.
    convenience init(_ settings: WorkerConfiguration.Registrations) throws(StoreFault) {
        let password = settings.password
        try self.init(settings.store, password: { password }, keys: settings.keys)
    }

    /// Returns a reader or a writer.
    ///
    /// - Throws: `resources` if OpenSSL fails, which only a lack of memory causes.
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
    /// Whether connections of one configuration can serve the other, too. Two writers of one SQLite file need the same
    /// store.
    func hasSameStore(as other: Self) -> Bool {
        store == other.store && keys == other.keys && password == other.password
    }
}

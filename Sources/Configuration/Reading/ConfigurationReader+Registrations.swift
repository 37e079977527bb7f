import AMQP
import JSON
import PostgreSQL
import RegistrationStores
import Registrations

extension ConfigurationReader {
    func hasRegistrations(_ root: JSONValue) -> Bool { root["registrations"]?.kind == .object }

    /// Reads the section `registrations` and the files that it names, and loads the C library of the store.
    ///
    /// Returns nil if the section, the store or the key file is missing or invalid.
    mutating func readRegistrations(
        _ section: JSONValue?, _ broker: WorkerConfiguration.Broker
    ) -> WorkerConfiguration.Registrations? {
        guard let section, section.kind == .object else { return nil }
        if broker.connection.userID == nil {
            complain(
                section,
                "the AMQP user of the worker is unknown, so the worker would not recognize its requests to devices of "
                    + "users; set amqp.username and amqp.password, also with a client certificate")
        }
        let store = section["store"].flatMap { storeAddress($0) }
        let file = section["keys_file"].flatMap { registrationKeys($0) }
        let password = section["password_file"].flatMap { storePassword($0, of: store) }
        let replyPrefix = readReplyPrefix(section["reply_prefix"], broker)
        guard let store, let file else { return nil }
        var registrations = WorkerConfiguration.Registrations(
            store: store, keys: file.keys, keysFile: file.path, password: password, replyPrefix: replyPrefix)
        registrations.devicesPerUserMax = section["devices_per_user_max"]?.int ?? registrations.devicesPerUserMax
        return registrations
    }

    private mutating func storeAddress(_ value: JSONValue) -> StoreAddress? {
        guard let text = text(value) else { return nil }
        do throws(StoreAddress.Invalid) {
            let store = try StoreAddress(text)
            do throws(StoreFault) { try store.loadLibrary() } catch { complain(value, error.sentence) }
            return store
        } catch {
            complain(value, error.description)
            return nil
        }
    }

    private mutating func registrationKeys(_ value: JSONValue) -> (keys: RegistrationKeys, path: String)? {
        guard let written = value.string, !written.isEmpty else { return nil }
        let path: String
        do throws(ReferenceResolver.Mistake) {
            path = FileReader.path(try resolver.replacingVariables(written), relativeTo: self.path)
        } catch {
            complain(value, error.message)
            return nil
        }
        // Record the version of the file, so that a worker detects a change. RegistrationKeys reports a read error.
        _ = try? resolver.readFile(path)
        do throws(RegistrationKeysError) {
            return (try RegistrationKeys(path: path), path)
        } catch {
            complain(value, error.message)
            return nil
        }
    }

    private mutating func storePassword(_ value: JSONValue, of store: StoreAddress?) -> PostgresPassword? {
        guard let written = value.string, !written.isEmpty else { return nil }
        if case .sqlite = store {
            complain(value, "password_file applies only to a PostgreSQL store; remove password_file")
            return nil
        }
        do throws(ReferenceResolver.Mistake) {
            let password = try resolver.resolve("file:\(written)")
            guard !password.isEmpty, !password.utf8.contains(0) else {
                complain(value, "\(written) must contain a password without a NUL")
                return nil
            }
            return PostgresPassword(password)
        } catch {
            complain(value, error.message)
            return nil
        }
    }
}

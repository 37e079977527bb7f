package import PostgreSQL
package import RegistrationStores
package import Registrations

extension WorkerConfiguration {
    /// The settings of device registrations.
    package struct Registrations: Sendable {
        package var store: StoreAddress
        package var keys: RegistrationKeys
        /// The path of the file that contains `keys`.
        package var keysFile: String
        /// The password of the PostgreSQL user; nil to connect without a password.
        package var password: PostgresPassword?
        package var devicesPerUserMax = RegistrationRules.devicesPerUserMaxDefault
        /// Prefix of the names of queues that may receive replies; nil to permit only direct reply-to.
        package var replyPrefix: String?
    }
}

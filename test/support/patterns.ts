/** A UUID of version 7, as the service generates. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** A time as the API returns it. */
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** An id of no row. */
export const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000'

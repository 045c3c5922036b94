import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './base.css'
